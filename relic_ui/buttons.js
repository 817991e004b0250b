const FOCUSED = "input, textarea, button, [tabindex]"
const TYPED_IN = "input, textarea, select, [contenteditable], [role=dialog]"
const KEEPS = ":is([data-does=keep], [data-does=let-go])", MOVES = ":is([data-does=up], [data-does=down])"
const KEYS = { // which buttons the thing that has the focus is known by, and which of them is pressed
  k: [KEEPS, KEEPS], "Alt+ArrowUp": [MOVES, "[data-does=up]"], "Alt+ArrowDown": [MOVES, "[data-does=down]"],
}

export default function (component) {
  const { setTriggerValue } = component
  window.relicButtons?.abort() // drawn anew, the component is begun anew: a press is told once
  const gone = window.relicButtons = new AbortController()
  let last = new AbortController()
  const press = event => {
    const button = event.target.closest?.("button.relic-button")
    if (!button || event.defaultPrevented || button.getAttribute("aria-disabled")) return
    const { does, to, then, during } = button.dataset
    const closest = button.closest("li[id], article[id], tr[id]")
    const row = closest?.id
    const opened = [...(closest?.querySelectorAll("details") ?? [])].map(each => each.open)
    const words = button.textContent
    if (during) { // at once: the server may be busy
      button.setAttribute("aria-disabled", "true")
      button.textContent = during
      const undo = () => { button.removeAttribute("aria-disabled"); button.textContent = words }
      setTimeout(undo, 8000)
    }
    setTriggerValue("pressed", `${does} ${to}`)
    last.abort() // one press is followed at a time, until the reader does something else
    last = new AbortController()
    const { signal } = last
    const stop = () => last.signal === signal && last.abort()
    for (const name of ["pointerdown", "wheel", "touchmove", "keydown"])
      document.addEventListener(name, stop, { once: true, signal, passive: true })
    const place = row && document.getElementById(row).getBoundingClientRect().top
    const scroller = button.closest('[data-testid="stMain"]')
    const look = () => {
      const brought = then && document.querySelector(then)
      const takes = brought && [brought, ...brought.querySelectorAll("*")].find(each => each.matches(FOCUSED))
      if (takes) { stop(); takes.focus(); return } // Streamlit puts a button's place before the button
      const now = row && document.getElementById(row)
      if (then || !now) return
      if (now !== closest && !now.dataset.seen) { // drawn anew: what was open in it stays open
        now.dataset.seen = "yes"
        const details = [...now.querySelectorAll("details")]
        if (details.length === opened.length) details.forEach((each, at) => (each.open = opened[at]))
      }
      const moved = now.getBoundingClientRect().top - place // a work that has arrived grows the list above
      if (scroller && Math.abs(moved) > 1) scroller.scrollTop += moved
      const buttons = [...now.querySelectorAll("button.relic-button")].map(each => [each, each.dataset])
      const [again] = buttons.find(([, its]) => its.does === does) ?? buttons.find(([, its]) => its.to === to) ?? []
      const folded = again?.closest("details:not([open])")?.firstElementChild // pressed by key
      if (document.activeElement === document.body) (folded ?? again ?? now).focus({ preventScroll: true })
    }
    const changes = new MutationObserver(look)
    changes.observe(document.body, { childList: true, subtree: true })
    signal.addEventListener("abort", () => changes.disconnect(), { once: true })
  }
  // A key presses the button of the thing that has the focus: of the nearest that holds such buttons, where it has one.
  const pressByKey = event => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
    const [kind, wanted] = KEYS[`${event.altKey ? "Alt+" : ""}${key}`] ?? []
    if (!kind || event.ctrlKey || event.metaKey || event.repeat || event.target.closest?.(TYPED_IN)) return
    const all = `button.relic-button${kind}:not([hidden] *)`
    let within = event.target
    while (within && !within.querySelector(all)) within = within.parentElement
    const buttons = [...(within?.querySelectorAll(all) ?? [])].filter(each => each.matches(wanted))
    if (buttons.length !== 1) return
    event.preventDefault()
    buttons[0].click()
  }
  document.addEventListener("click", press, { signal: gone.signal })
  document.addEventListener("keydown", pressByKey, { signal: gone.signal })
  document.documentElement.dataset.relicButtons = "listening"
  return () => { gone.abort(); last.abort() }
}
