// One item of a study: passages or labels to choose from by click or key, or a passage in which a span is marked; and
// what is told of every press.
//
// The frame stays, and only what is in it changes: so what a screen reader is told is heard, nothing moves that is the
// same for every item, and what is being written stays. A press is kept until the server says that it has heard it, and
// is told again to a server that was started anew meanwhile.

const DRAFTS = "relic-proxy" // localStorage, which outlives the tab: who and item -> the comment being written
const DRAFTS_KEPT = 40
const KEYS = "relic-proxy-keys" // localStorage: "off" where the reader wants no keys
const UNHEARD_MS = 8000
const DRAWN_MS = 350 // the second press of a double click must not answer the next item, or go back once more

const read = key => {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? {}
  } catch {
    return {} // refused, or not ours
  }
}

const keep = (key, value) => {
  try {
    localStorage.setItem(key, JSON.stringify(value))
  } catch {
    // no room, or refused: it is not kept
  }
}

const drafted = (item, comment) => {
  const { [item]: _, ...others } = read(DRAFTS)
  const every = comment === undefined ? others : { ...others, [item]: comment }
  keep(DRAFTS, Object.fromEntries(Object.entries(every).slice(-DRAFTS_KEPT)))
}

const state = { item: "", settled: undefined, drawn: 0, seen: 0, since: 0, pending: null, waiting: 0, last: "" }

// Only the time during which the item could be seen counts.
const clock = {
  start: () => { state.seen = 0; state.since = document.hidden ? 0 : performance.now() },
  pause: () => { if (state.since) state.seen += performance.now() - state.since; state.since = 0 },
  resume: () => { if (!state.since) state.since = performance.now() },
  seconds: () => Math.round((state.seen + (state.since ? performance.now() - state.since : 0)) / 100) / 10,
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  parentElement.stop?.()
  const part = name => parentElement.querySelector(`[data-part="${name}"]`)
  const stops = new AbortController()
  const on = (target, name, act, options) => target.addEventListener(name, act, { ...options, signal: stops.signal })
  const say = words => { part("said").textContent = words }
  const warn = words => { part("trouble").textContent = words }
  const comment = part("comment")
  const own = item => `${data.who} ${item}`
  document.cookie = `${data.who}; path=/; SameSite=Strict` // forgotten when the browser is closed
  const spanned = () => parentElement.querySelector("[data-anchor]")
  const options = () => [...parentElement.querySelectorAll("button[data-choice]")]

  // ---- drawing -----------------------------------------------------------------------------------------------------

  const changed = state.item !== data.item || state.settled !== data.settled
  if (changed) {
    const other = state.item !== data.item
    part("body").innerHTML = data.body // made and escaped by answering.py
    part("heading").textContent = data.heading
    part("work").textContent = data.about
    const progress = part("progress")
    progress.max = data.of
    progress.value = data.answered
    part("counted").textContent = data.counted
    if (other) comment.value = read(DRAFTS)[own(data.item)] ?? data.comment
    state.item = data.item
    state.settled = data.settled
    state.drawn = performance.now()
    clock.start()
    part("hint").innerHTML = data.hint // as the body
    part("more").open = Boolean(comment.value)
    const first = !parentElement.dataset.drawn
    parentElement.dataset.drawn = "yes"
    const arrive = looks => { // what led here has the focus until the page before has gone
      if (first && document.activeElement !== document.body) {
        if (looks && state.item === data.item) setTimeout(arrive, 50, looks - 1)
        return
      }
      const heading = part(data.settled ? "verdict" : "heading") ?? part("heading")
      const scroller = parentElement.closest('[data-testid="stMain"]')
      const frame = parentElement.querySelector(".relic-proxy")
      if (scroller && frame) {
        const above = frame.getBoundingClientRect().top - scroller.getBoundingClientRect().top
        if (other && (above < 0 || above > scroller.clientHeight / 2)) scroller.scrollTop += above - 72
      }
      heading.focus({ preventScroll: other })
    }
    arrive(200)
  }
  if (changed && spanned()) drawSpan()
  for (const button of options()) {
    button.setAttribute("aria-pressed", String(button.dataset.choice === data.choice))
    button.removeAttribute("aria-disabled")
    if (data.settled) button.setAttribute("aria-disabled", "true")
  }
  part("back").hidden = !data.back
  part("next").hidden = !data.choice
  part("on").textContent = data.next

  const keysButton = part("keys")
  const keysOn = () => read(KEYS).off !== true
  const drawKeys = () => {
    keysButton.textContent = keysOn() ? "Turn keys off" : "Turn keys on"
    parentElement.querySelector(".relic-proxy").classList.toggle("relic-proxy-keyed", keysOn())
  }
  drawKeys()

  // ---- a span: words from its first to its last, always with the anchor ------------------------------------------------

  function drawSpan(focused) {
    const box = spanned()
    const { first, last, anchor } = Object.fromEntries(Object.entries(box.dataset).map(([key, value]) => [key, +value]))
    const words = [...box.querySelectorAll("[data-word]")]
    const texts = words.slice(first - 1, last).map(word => word.textContent)
    words.forEach((word, at) => word.classList.toggle("relic-span-in", first <= at + 1 && at + 1 <= last))
    const [begin, end] = box.querySelectorAll("[role=slider]")
    words[first - 1].before(begin) // the handles stand in the text, at the two ends
    words[last - 1].after(end)
    for (const [handle, now, least, most] of [[begin, first, 1, anchor], [end, last, anchor, words.length]]) {
      handle.setAttribute("aria-valuemin", least)
      handle.setAttribute("aria-valuemax", most)
      handle.setAttribute("aria-valuenow", now)
      handle.setAttribute("aria-valuetext", words[now - 1].textContent.trim())
    }
    focused?.focus({ preventScroll: true }) // what is moved in the page loses the focus
    const save = parentElement.querySelector("[data-part=mark]")
    save.dataset.choice = String(1000 * first + last)
    save.setAttribute("aria-pressed", String(save.dataset.choice === data.choice))
    parentElement.querySelector("[data-part=marked]").textContent =
      `${texts.length} ${texts.length === 1 ? "word" : "words"}`
  }

  // Before the anchor a word becomes the first of the span, behind it the last; the anchor takes the span back to itself.
  function moveTo(number, focused) {
    const box = spanned()
    const anchor = +box.dataset.anchor
    const count = box.querySelectorAll("[data-word]").length
    const at = Math.min(Math.max(number, 1), count)
    const end = focused ? focused === box.querySelectorAll("[role=slider]")[1] : at > anchor
    if (at === anchor && !focused) Object.assign(box.dataset, { first: anchor, last: anchor })
    else if (end) box.dataset.last = Math.max(at, anchor)
    else box.dataset.first = Math.min(at, anchor)
    drawSpan(focused)
  }

  // ---- telling the server ------------------------------------------------------------------------------------------

  const busy = is => {
    parentElement.querySelector(".relic-proxy").classList.toggle("relic-proxy-busy", is)
    parentElement.querySelector(".relic-proxy").setAttribute("aria-busy", String(is))
  }

  const send = told => {
    state.pending = { ...told, visit: data.visit }
    busy(true)
    warn("")
    setTriggerValue("did", told)
    clearTimeout(state.waiting)
    state.waiting = setTimeout(() => {
      state.pending = null
      busy(false)
      warn("This has not been saved yet: the connection is slow or lost. Please choose again.")
    }, UNHEARD_MS)
  }

  const heard = state.pending && data.heard === state.pending.nonce
  if (heard || (state.pending && state.pending.item !== data.item)) {
    if (heard && !data.trouble && state.pending.does !== "back") drafted(own(state.pending.item))
    state.pending = null
  }
  if (!state.pending) {
    clearTimeout(state.waiting)
    busy(false)
    warn(data.trouble)
    if (heard && data.said) say(data.said)
  } else if (state.pending.visit !== data.visit) {
    const { visit, ...told } = state.pending // the server was started anew and never heard it
    send(told)
  }

  const tell = (does, choice) => {
    const twice = does === state.last && performance.now() - state.drawn < DRAWN_MS
    if (state.pending || twice) return
    state.last = does
    if (does === "choose") {
      if (data.settled) return
      for (const button of options()) button.setAttribute("aria-pressed", String(button.dataset.choice === choice))
    }
    const nonce = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`
    send({ does, choice: choice ?? "", item: data.item, comment: comment.value, seconds: clock.seconds(), nonce })
  }

  // ---- listening ---------------------------------------------------------------------------------------------------

  on(parentElement, "click", event => {
    const word = event.target.closest?.("[data-word]")
    if (word && !data.settled) moveTo(+word.dataset.word)
    const button = event.target.closest?.("button")
    if (!button || button.getAttribute("aria-disabled")) return
    if (button.dataset.choice) tell("choose", button.dataset.choice)
    else if (button === part("back")) tell("back")
    else if (button === part("next")) tell("next")
    else if (button === keysButton) {
      keep(KEYS, { off: keysOn() })
      drawKeys()
    }
  })
  on(parentElement, "keydown", event => {
    const handle = event.target.closest?.("[role=slider]")
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -1e4, End: 1e4 }[event.key]
    if (!handle || event.ctrlKey || event.metaKey || event.altKey) return
    if (step) moveTo(Number(handle.getAttribute("aria-valuenow")) + step, handle)
    else if (event.key === "Enter") tell("choose", parentElement.querySelector("[data-part=mark]").dataset.choice)
    else return
    event.preventDefault()
  })
  on(document, "keydown", event => {
    const { target, key } = event
    const writing = target.closest?.("input, textarea, select, [contenteditable], [role=textbox], [role=combobox], [role=dialog]")
    if (writing || !keysOn() || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return
    const does = {
      1: ["choose", "1"], 2: ["choose", "2"], 3: ["choose", "3"], 0: ["choose", "0"], c: ["choose", "0"],
      b: ["back"], n: ["next"],
    }[key.toLowerCase()]
    if (!does || (does[0] === "choose" ? !options().some(each => each.dataset.choice === does[1]) : part(does[0]).hidden)) return
    event.preventDefault()
    event.stopPropagation()
    tell(...does)
  }, { capture: true })
  on(comment, "input", () => drafted(own(data.item), comment.value))
  on(document, "visibilitychange", () => (document.hidden ? clock.pause() : clock.resume()))

  parentElement.stop = () => stops.abort()
  return () => {
    parentElement.stop()
    clearTimeout(state.waiting)
    Object.assign(state, { item: "", settled: undefined, pending: null })
  }
}
