// Follows the reader along a chapter: lights the passage, keeps the place and the address, copies.
//
// The chapter's own HTML is never touched but for the marks of hits, which are put in beside it: what is lit is said by
// a style sheet, so that nothing moves. Nothing here asks the server for anything.

const KEPT = "relic-read" // localStorage: work -> the place last read in this browser
const COUNTS = "relic-read-counts" // localStorage: "hidden" where the reader wants no counts beside the text
const SCROLLED = "relic-read-scroll" // sessionStorage: work and chapter -> where the page stood in this tab
const PLACES_KEPT = 80
const [COUNT_WIDTH, COUNT_HEIGHT] = [30, 25] // pixels
const SETTLED_MS = 250

const state = { place: "", served: "", at: "", n: 0, returning: "", quoting: "" } // quoting: the sentence whose list is open

// A click on one of our links is a step forward, and not trusted (links.py); the browser's Back is.
addEventListener("popstate", event => event.isTrusted && (state.returning = location.search))

const read = (store, key) => {
  try {
    return JSON.parse(store.getItem(key)) ?? {}
  } catch {
    return {} // refused, or not ours
  }
}

const keep = (store, key, name, value) => {
  const { [name]: _, ...others } = read(store, key)
  const places = Object.entries({ ...others, [name]: value }).slice(-PLACES_KEPT)
  try {
    store.setItem(key, JSON.stringify(Object.fromEntries(places)))
  } catch {
    // no room, or refused: the place is not kept
  }
}

const later = (act, wait) => {
  let timer
  const ask = () => (clearTimeout(timer), (timer = setTimeout(act, wait)))
  ask.cancel = () => clearTimeout(timer)
  return ask
}

const copied = async text => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text, readOnly: true })
    area.style.cssText = "position:fixed;top:0;left:-9999px"
    const focused = document.activeElement
    document.body.append(area)
    area.select()
    const done = document.execCommand("copy")
    area.remove()
    focused?.focus({ preventScroll: true })
    return done
  }
}

export default function (component) {
  const { data, parentElement } = component
  parentElement.stop?.()
  const bar = parentElement.querySelector(".relic-read-bar")
  const offer = parentElement.querySelector(".relic-read-offer")
  const list = parentElement.querySelector(".relic-read-quoting")
  const light = parentElement.querySelector(".relic-read-light")
  const part = name => bar.querySelector(`[data-part="${name}"]`)
  const say = words => (part("said").textContent = words)
  const stops = new AbortController()
  const on = (target, name, act, options) => target.addEventListener(name, act, { ...options, signal: stops.signal })
  let article, spans = [], marked = "", moved = false

  // ---- sentences ---------------------------------------------------------------------------------------------------

  const idOf = at => `s-${at.replaceAll(".", "-")}`
  const atOf = span => span.id.slice(2).replaceAll("-", ".")
  const sentenceOf = node => (node?.closest ? node : node?.parentElement)?.closest("[id^='s-']")
  const placeOf = span => span.dataset.place ?? span.closest("[data-place]")?.dataset.place ?? ""
  const chosen = () => {
    const first = spans.findIndex(span => span.id === idOf(state.at))
    return first < 0 ? [] : spans.slice(first, first + state.n)
  }

  const wordsOf = chosenSpans => {
    const paragraphs = Map.groupBy
      ? [...Map.groupBy(chosenSpans, span => span.parentElement).values()]
      : [...new Set(chosenSpans.map(span => span.parentElement))].map(p => chosenSpans.filter(s => s.parentElement === p))
    return paragraphs
      .map(inside => {
        const range = document.createRange()
        range.setStartBefore(inside[0])
        range.setEndAfter(inside.at(-1))
        const words = range.cloneContents()
        words.querySelectorAll(".relic-read-marks, .relic-read-quoted, .relic-read-line, .relic-read-n").forEach(each => each.remove())
        return words.textContent.trim()
      })
      .join("\n\n")
  }

  // ---- lighting and the address ------------------------------------------------------------------------------------

  const draw = () => {
    const lit = chosen()
    const name = span => `#${CSS.escape(span.id)}`
    const hidden = "position:absolute;left:-9999px;"
    light.textContent = !lit.length
      ? ""
      : `${lit.map(name)}{background:var(--relic-lit);box-decoration-break:clone;-webkit-box-decoration-break:clone;` +
        "text-decoration:underline 2px;text-decoration-color:var(--relic-read-rule);text-underline-offset:.28em;" +
        "text-decoration-skip-ink:none}" +
        `${name(lit[0])}::before{content:"The passage begins: ";${hidden}}` +
        `${name(lit.at(-1))}::after{content:" The passage ends.";${hidden}}`
    const listed = drawQuoting()
    bar.hidden = !lit.length || listed
    if (!lit.length) return
    offer.hidden = true
    part("place").textContent = placeOf(lit[0]) + (lit.length > 1 ? `, ${lit.length} sentences` : "")
    part("earlier").disabled = spans[0] === lit[0]
    part("later").disabled = spans.at(-1) === lit[0]
    part("longer").disabled = spans.at(-1) === lit.at(-1)
    part("shorter").disabled = lit.length < 2
    const counted = data.quoted?.[state.at]
    part("quoted").replaceChildren(...(counted ? [quotedLink(state.at, `Quoted ${timesOf(counted)}`)] : []))
    const like = part("like").firstElementChild
    if (like) {
      const asked = new URLSearchParams({ like: data.work, at: state.at, n: lit.length })
      like.setAttribute("href", `find?${asked}`)
    }
    const cite = part("cite").firstElementChild
    if (cite) {
      const asked = new URLSearchParams({ work: data.work, at: state.at, n: lit.length })
      cite.setAttribute("href", `cite?${asked}`)
    }
    drawKeep(lit)
    say("")
  }

  // ---- the notebook ------------------------------------------------------------------------------------------------

  // The button is one of buttons.py: the page is told what it is to keep, and draws what is kept anew.
  const drawKeep = lit => {
    const [, , note, collection, own] = data.kept?.find(([at, n]) => at === state.at && n === lit.length) ?? []
    const button = part("keep")
    const label = own ? "Kept" : "Keep"
    button.dataset.does = own ? "let-go" : "keep"
    button.dataset.to = [data.work, state.at, lit.length, data.search ?? ""].join("/")
    if (button.textContent !== label) button.textContent = label
    button.setAttribute("aria-pressed", String(Boolean(own)))
    button.setAttribute("aria-label", `${label}: the passage marked, in the notebook (key k)`)
    const link = Object.assign(document.createElement("a"), { className: "relic-link", target: "_self", textContent: `${own ? "" : "kept "}in ${collection}` })
    link.setAttribute("href", `notebook?${new URLSearchParams({ note })}`)
    link.dataset.then = `#note-${note}`
    part("kept").replaceChildren(...(note ? [link] : []))
  }

  const addressOf = () => {
    const asked = new URLSearchParams(data.address.split("?")[1])
    asked.set("at", state.at || String(data.chapter))
    state.n > 1 ? asked.set("n", state.n) : asked.delete("n")
    state.at && state.quoting === state.at ? asked.set("quoting", 1) : asked.delete("quoting")
    return `${location.pathname}?${asked}`
  }

  const mark = (span, n = 1) => {
    state.at = span ? atOf(span) : ""
    state.n = span ? Math.min(n, spans.length - spans.indexOf(span)) : 0
    history.replaceState(history.state, "", addressOf())
    draw()
    if (span) remember()
  }

  const markBetween = (one, other) => {
    const [first, last] = [spans.indexOf(one), spans.indexOf(other)].sort((a, b) => a - b)
    mark(spans[first], last - first + 1)
  }

  // ---- who quotes --------------------------------------------------------------------------------------------------

  const timesOf = number => (number === 1 ? "once" : `${number.toLocaleString("en")} times`)

  const quotedLink = (at, words) => {
    const asked = new URLSearchParams(data.address.split("?")[1])
    asked.delete("n")
    asked.set("at", at)
    asked.set("quoting", 1)
    const link = Object.assign(document.createElement("a"), { className: "relic-link", target: "_self", textContent: words })
    link.setAttribute("href", `read?${asked}`)
    return link
  }

  const isServed = at => data.quoting && data.lit?.at === at

  // The list is drawn as soon as it is asked for, and filled when the server has answered.
  const drawQuoting = () => {
    const open = state.at !== "" && state.quoting === state.at
    const filled = open && isServed(state.at) ? data.quoting : "<p role=\"status\">Looking up who quotes it …</p>"
    list.hidden = !open
    if (open && list.shown !== filled) {
      list.innerHTML = list.shown = filled
    }
    for (const link of article?.querySelectorAll(".relic-read-quoted") ?? [])
      open && link.dataset.at === state.at ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")
    return open
  }

  const shutQuoting = () => {
    const at = state.at
    state.quoting = ""
    history.replaceState(history.state, "", addressOf())
    draw()
    focus(article.querySelector(`.relic-read-quoted[data-at="${at}"]`) ?? chosen()[0])
  }

  const putCounts = () => {
    const wanted = JSON.stringify([data.quoted, data.address.split("?")[1].replace(/(at|n|quoting)=[^&]*/g, "")])
    if (article.counted === wanted) return
    article.counted = wanted
    article.querySelectorAll(".relic-read-quoted").forEach(each => each.remove())
    for (const [at, number] of Object.entries(data.quoted ?? {})) {
      const beside = document.getElementById(idOf(at))
      if (!beside) continue
      const link = quotedLink(at, number.toLocaleString("en"))
      link.classList.add("relic-read-quoted")
      link.dataset.at = at
      link.title = `Quoted ${timesOf(number)}`
      link.setAttribute("aria-label", `Quoted ${timesOf(number)}: by whom?`)
      const marks = beside.previousElementSibling
      ;(marks?.matches(".relic-read-marks") ? marks : beside).before(link)
    }
    const links = [...article.querySelectorAll(".relic-read-quoted")]
    links.forEach((link, index) => (link.tabIndex = index ? -1 : 0)) // one stop for Tab; the arrows go on
    placeCounts()
    drawQuoting()
  }

  // Beside the line on which the sentence begins. Those that begin on one line stand side by side, as far as there is
  // room; for more, the later one goes down.
  const placeCounts = () => {
    const links = [...(article?.querySelectorAll(".relic-read-quoted") ?? [])]
    if (!links.length) return
    const zero = article.getBoundingClientRect().top
    const tops = links.map(link => document.getElementById(idOf(link.dataset.at))?.getClientRects()[0]?.top - zero || 0)
    const room = parseFloat(getComputedStyle(article).paddingRight) / COUNT_WIDTH
    const columns = article.querySelector(".relic-read-marks") ? 1 : Math.max(1, Math.floor(room))
    let [below, line, column] = [-Infinity, -Infinity, 0]
    links.forEach((link, index) => {
      column = Math.abs(tops[index] - line) < COUNT_HEIGHT / 2 && column + 1 < columns ? column + 1 : 0
      const top = column ? below - COUNT_HEIGHT : Math.max(tops[index], below)
      link.style.top = `${Math.round(top)}px`
      link.style.marginLeft = column ? `${column * COUNT_WIDTH}px` : ""
      line = tops[index]
      below = top + COUNT_HEIGHT
    })
  }

  const drawSwitch = () => {
    let hidden = false
    try {
      hidden = localStorage.getItem(COUNTS) === "hidden"
    } catch {
      // refused: they are shown
    }
    document.documentElement.toggleAttribute("data-relic-counts-hidden", hidden)
    const button = document.querySelector(".relic-read-switch")
    const words = hidden ? "Show the counts" : "Hide the counts"
    if (button && button.textContent !== words) button.textContent = words
  }

  const switchCounts = () => {
    try {
      document.documentElement.hasAttribute("data-relic-counts-hidden")
        ? localStorage.removeItem(COUNTS)
        : localStorage.setItem(COUNTS, "hidden")
    } catch {
      return
    }
    drawSwitch()
  }

  const show = (element, block) => element.scrollIntoView({ block, behavior: "instant" })

  const focus = element => {
    if (!element.hasAttribute("tabindex")) element.setAttribute("tabindex", "-1")
    element.focus({ preventScroll: true })
  }

  // ---- the place ---------------------------------------------------------------------------------------------------

  const scroller = () => {
    let element = article
    while (element && !(element.scrollHeight > element.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(element).overflowY)))
      element = element.parentElement
    return element ?? document.scrollingElement
  }

  const topOf = () => {
    const top = Math.max(0, scroller().getBoundingClientRect().top) + 60
    const paragraphs = article.querySelectorAll("p[data-place]")
    let [low, high] = [0, paragraphs.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      paragraphs[middle].getBoundingClientRect().bottom > top ? (high = middle) : (low = middle + 1)
    }
    return paragraphs[low]
  }

  const remember = () => {
    const paragraph = article?.isConnected && topOf()
    if (!paragraph) return
    const { chapter, work, title } = data
    const at = paragraph.id.slice(2).replaceAll("-", ".")
    keep(localStorage, KEPT, work, { at, title, place: paragraph.dataset.place })
    const offset = paragraph.getBoundingClientRect().top
    keep(sessionStorage, SCROLLED, `${work} ${chapter}`, { top: paragraph.id, offset, at: state.at, n: state.n })
  }

  const goBack = () => {
    const last = read(sessionStorage, SCROLLED)[`${data.work} ${data.chapter}`]
    const paragraph = last && document.getElementById(last.top)
    if (!paragraph) return false
    const span = !state.at && last.at && document.getElementById(idOf(last.at))
    if (span) mark(span, last.n)
    scroller().scrollTop += paragraph.getBoundingClientRect().top - last.offset
    return true
  }

  const makeOffer = () => {
    const places = read(localStorage, KEPT)
    const work = Object.keys(places).filter(id => id in (data.offer ?? {})).at(-1)
    offer.hidden = !work || !bar.hidden
    if (!work) return
    const { at, place } = places[work]
    const link = offer.querySelector("a")
    const named = data.work ? "" : `${data.offer[work]}, `
    link.textContent = `Continue at ${named}${place.replace(" · ", ", ")}`
    link.setAttribute("href", `read?${new URLSearchParams({ work, at })}`)
  }

  // What the server asks to be shown is shown once: later runs of the page must not take the reader back to it.
  const open = () => {
    const place = `${data.work} ${data.chapter}`
    const served = `${place} ${data.lit?.at} ${data.lit?.n}`
    const same = state.place === place
    const current = `${place} ${state.at || undefined} ${state.n || undefined}`
    const fresh = served !== state.served && !(same && served === current)
    const first = state.place === ""
    const asks = data.quoting && `${served} ${data.address}`
    const listed = asks && state.listed !== asks
    Object.assign(state, { place, served, listed: asks || state.listed })
    if (listed) state.quoting = data.lit.at
    else if (!data.quoting && !/[?&]quoting=/.test(location.search)) state.quoting = ""
    if (!fresh) {
      draw()
      return listed && showList()
    }
    state.at = data.lit?.at ?? ""
    state.n = data.lit?.n ?? 0
    const address = `${location.pathname}?${data.address.split("?")[1]}`
    const reloaded = first && performance.getEntriesByType("navigation")[0]?.type === "reload"
    const returning = state.returning === location.search || reloaded
    state.returning = ""
    if (location.pathname + location.search !== address) history.replaceState(history.state, "", address)
    draw()
    makeOffer()
    const [passage] = chosen()
    if (passage && listed) {
      showList()
      remember()
    } else if (passage) {
      show(passage, "center")
      focus(passage)
      remember()
    } else if (!((data.resumed || returning) && goBack()) && !first) {
      const heading = article.querySelector("h2")
      show(heading, "start")
      focus(heading)
    }
  }

  const showList = () => {
    const [passage] = chosen()
    if (passage) show(passage, "nearest")
    focus(list)
  }

  // ---- what stands beside the text ---------------------------------------------------------------------------------

  const putMarks = () => {
    const source = document.querySelector(".relic-read-marks-source")
    const wanted = source?.innerHTML ?? ""
    if (wanted === marked) return
    marked = wanted
    article.querySelectorAll(".relic-read-marks").forEach(each => each.remove())
    for (const group of source?.children ?? []) {
      const beside = document.getElementById(idOf(group.dataset.at))
      if (!beside) continue
      const marks = document.createElement("span")
      marks.className = "relic-read-marks"
      marks.append(...[...group.children].map(each => each.cloneNode(true)))
      beside.before(marks)
    }
    spread()
    placeCounts()
  }

  // Marks of neighbouring lines would cover each other: the later one goes down.
  const spread = () => {
    let below = -Infinity
    for (const marks of article?.querySelectorAll(".relic-read-marks") ?? []) {
      marks.style.marginTop = ""
      if (getComputedStyle(marks).position !== "absolute") continue
      const { top, height } = marks.getBoundingClientRect()
      const down = Math.max(0, below - top)
      if (down) marks.style.marginTop = `${down}px`
      below = top + down + height + 2
    }
  }

  const wide = matchMedia("(min-width: 1100px)")
  let unfolded
  const unfold = () => {
    const contents = document.querySelector(".relic-read-contents")
    if (!contents || contents === unfolded) return
    unfolded = contents
    contents.open = wide.matches
    const list = contents.querySelector(".relic-read-list")
    const here = contents.querySelector("[aria-current]")
    if (here && wide.matches) list.scrollTop = here.offsetTop - list.clientHeight / 3
  }
  const setBeside = () => (spread(), placeCounts())
  on(wide, "change", () => ((unfolded = null), unfold(), setBeside()))
  on(window, "resize", later(setBeside, SETTLED_MS))
  const sizes = new ResizeObserver(setBeside)

  const sync = () => {
    unfold()
    const found = document.querySelector(`article[data-work="${data.work}"][data-chapter="${data.chapter}"]`)
    if (!found) return
    if (found !== article) {
      article = found
      spans = [...article.querySelectorAll("[id^='s-']")]
      marked = article.querySelector(".relic-read-marks") ? null : ""
      const numbers = article.querySelectorAll(".relic-read-n")
      numbers.forEach((number, index) => (number.tabIndex = index ? -1 : 0)) // one stop for Tab; the arrows go on
      sizes.disconnect()
      sizes.observe(article)
      open()
    }
    putCounts()
    putMarks()
    drawSwitch()
  }

  // Between a step to another chapter and its coming, the address is ahead of what is shown.
  const underWay = () => new URLSearchParams(location.search).get("at")?.split(".")[0] !== String(data.chapter)

  // A link to where the server has led already would change nothing for it, and so is followed here.
  const follow = link => {
    const asked = new URLSearchParams(link.getAttribute("href").split("?")[1])
    const at = asked.get("at") ?? ""
    const n = at.includes(".") ? Number(asked.get("n") ?? 1) : undefined
    const served = `${state.place} ${n && at} ${n}`
    if (asked.get("work") !== data.work || at.split(".")[0] !== String(data.chapter) || served !== state.served) return false
    const listed = asked.has("quoting")
    if (listed && !isServed(at)) return false
    state.quoting = listed ? at : ""
    mark(n ? document.getElementById(idOf(at)) : null, n)
    const target = chosen()[0] ?? article.querySelector("h2")
    if (listed) return showList(), true
    show(target, n ? "center" : "start")
    focus(target)
    return true
  }

  // ---- what the reader does ----------------------------------------------------------------------------------------

  const inText = node => article && node && article.contains(node)

  const selected = () => {
    const selection = getSelection()
    if (!selection.rangeCount || selection.isCollapsed || !selection.toString().trim()) return null
    const range = selection.getRangeAt(0)
    if (!inText(range.commonAncestorContainer)) return null
    const inside = spans.filter(span => range.intersectsNode(span))
    const touched = inside.filter(span => {
      const own = document.createRange()
      own.selectNodeContents(span)
      return range.compareBoundaryPoints(Range.START_TO_END, own) > 0 && range.compareBoundaryPoints(Range.END_TO_START, own) < 0
    })
    return touched.length ? [touched[0], touched.at(-1)] : null
  }

  on(document, "selectionchange", later(() => {
    const ends = selected()
    if (ends) markBetween(...ends)
  }, SETTLED_MS))

  on(document, "click", event => {
    if (moved && event.target.closest?.("a[href]")) remember()
    const link = event.target.closest?.("a.relic-link[href^='read?']")
    const elsewhere = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
    if (!link || !article || elsewhere) return
    if (follow(link)) return event.preventDefault()
    if (!link.matches(".relic-read-quoted, [data-part=quoted] a")) return
    const at = new URLSearchParams(link.getAttribute("href").split("?")[1]).get("at")
    mark(document.getElementById(idOf(at))) // where Back leads; the step forward is links.js's
    state.quoting = at
    draw()
    show(chosen()[0], "nearest")
  }, { capture: true })

  on(document, "click", event => {
    if (event.target.closest?.(".relic-read-switch")) return switchCounts()
    if (event.target.closest?.(".relic-read-shut")) return shutQuoting()
    if (!inText(event.target) || event.button) return
    const number = event.target.closest(".relic-read-n")
    if (number && !(event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      const span = number.parentElement.querySelector("[id^='s-']")
      return event.shiftKey && state.at ? markBetween(chosen()[0], span) : mark(span)
    }
    if (event.target.closest("a, button")) return
    const span = sentenceOf(event.target)
    if (!span) return
    if (event.shiftKey && state.at) {
      getSelection().removeAllRanges()
      return markBetween(chosen()[0], span)
    }
    if (!selected()) mark(span)
  })

  on(document, "keydown", event => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const focused = event.target.closest?.(".relic-read-n, .relic-read-quoted")
    if (focused && /^Arrow(Up|Down)$/.test(event.key)) {
      event.preventDefault()
      const numbers = [...article.querySelectorAll(focused.matches(".relic-read-n") ? ".relic-read-n" : ".relic-read-quoted")]
      const next = numbers[numbers.indexOf(focused) + (event.key === "ArrowUp" ? -1 : 1)]
      if (!next) return
      focused.tabIndex = -1
      next.tabIndex = 0
      return next.focus()
    }
    if (event.key === "Escape" && !list.hidden && !event.target.closest?.("input, textarea, [role=dialog]")) return shutQuoting()
    if (event.key === "Escape" && state.at && !event.target.closest?.("input, textarea, [role=dialog]")) return mark(null)
    const going = { ArrowLeft: "previous", ArrowRight: "next" }[event.key]
    const busy = "input, textarea, select, summary, [contenteditable], [role=listbox], [role=combobox], [role=slider]"
    const ours = event.target.contains(article) || event.target.closest?.(".st-key-read_room") // not a menu's or a dialog's
    if (!going || !ours || event.target.closest?.(busy) || !getSelection().isCollapsed) return
    if (event.repeat || underWay()) return
    document.querySelector(`.relic-read-${going}`)?.click()
  })

  on(bar, "click", async event => {
    const act = event.target.closest("button")?.dataset.part
    const lit = chosen()
    if (!act || !lit.length) return
    const at = spans.indexOf(lit[0])
    const last = spans.indexOf(lit.at(-1))
    const step = { earlier: [at - 1, lit.length], later: [at + 1, lit.length], longer: [at, lit.length + 1], shorter: [at, lit.length - 1] }[act]
    if (step) {
      mark(spans[step[0]], step[1])
      const seen = act === "longer" ? spans[last + 1] : chosen()[0]
      seen?.scrollIntoView({ block: "nearest" })
    } else if (act === "close") {
      mark(null)
      focus(lit[0])
    } else {
      const place = `${data.cited}, ${placeOf(lit[0]).replace(" · ", ", ")}`
      const text = act === "copy-address" ? new URL(addressOf(), location.href).href : `“${wordsOf(lit)}” (${place})`
      say((await copied(text)) ? "Copied" : "The browser refused to copy; select the words instead.")
    }
  })

  const told = later(remember, SETTLED_MS)
  for (const name of ["wheel", "touchmove", "keydown", "pointerdown"]) on(document, name, () => (moved = true), { passive: true })
  on(document, "scroll", () => moved && told(), { capture: true, passive: true })

  for (const name of ["about", "like", "cite"]) part(name).innerHTML = data[name] ?? ""
  const room = document.querySelector(".st-key-read_room")
  let asked = 0
  const watcher = new MutationObserver(() => {
    cancelAnimationFrame(asked)
    asked = requestAnimationFrame(sync)
  })
  if (data.work) {
    watcher.observe(room ?? document.body, { childList: true, subtree: true })
    sync()
  } else {
    makeOffer()
  }
  document.documentElement.dataset.relicReading = "listening" // tests wait for it
  window.relicReader = parentElement // the next page's may be drawn before this one is taken away
  const follows = () => window.relicReader === parentElement

  parentElement.stop = () => {
    if (follows()) delete document.documentElement.dataset.relicReading
    stops.abort()
    watcher.disconnect()
    sizes.disconnect()
    cancelAnimationFrame(asked)
    told.cancel()
  }
  return () => {
    parentElement.stop()
    if (follows()) Object.assign(state, { place: "", served: "", at: "", n: 0, quoting: "", listed: "" })
  }
}
