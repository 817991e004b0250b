// Follows clicks on our links (links.py), and keeps what a page loaded anew would keep: where the reader stood on a
// page that is come back to, and where the focus goes on one that is new. Runs a page that has found its server again.

const LEFT = "relic-left" // sessionStorage: address -> where it was left
const ADDRESSES_KEPT = 60
const LIMIT_MS = 30000
const SETTLED_MS = 750
const MISSED_MS = 5000 // a slow machine rests before all is drawn
const HAND = ["wheel", "touchmove", "keydown", "pointerdown"]

const page = () => document.querySelector('[data-testid="stMain"]')
const app = () => document.querySelector('[data-testid="stApp"]')?.dataset ?? {}
const resting = () => app().testScriptState === "notRunning"
const keepsItsOwn = path => /\/read$/.test(path) // reading_place.js

const named = url => {
  const { pathname, search } = new URL(url, location.href)
  const asked = new URLSearchParams(search)
  for (const how of ["w", "m", "view"]) asked.delete(how) // what the answer was made with and how it is shown: links back leave it away
  asked.sort()
  return `${pathname.replace(/\/find$/, "/")}?${asked}` // the home page is Find
}

const leftPlaces = () => {
  try {
    return JSON.parse(sessionStorage.getItem(LEFT)) ?? {}
  } catch {
    return {} // refused, or not ours
  }
}

const leave = link => {
  const main = page()
  if (!main || keepsItsOwn(location.pathname)) return
  const inside = link && main.contains(link)
  const key = named(location.href)
  const { [key]: _, ...others } = leftPlaces()
  const left = {
    address: location.href,
    title: document.title,
    top: main.scrollTop,
    id: inside ? link.closest("article[id], tr[id], li[id]")?.id : undefined,
    href: inside ? link.getAttribute("href") : undefined,
  }
  try {
    sessionStorage.setItem(LEFT, JSON.stringify(Object.fromEntries([...Object.entries(others), [key, left]].slice(-ADDRESSES_KEPT))))
  } catch {
    // no room, or refused: the place is not kept
  }
}

const focus = element => {
  if (!element.matches("a[href], button, input, [tabindex]")) {
    element.setAttribute("tabindex", "-1")
    element.style.outline = "none"
  }
  element.focus({ preventScroll: true })
}

let stop = () => {}

// Does something once the page has been run anew (`ran`: it was already), and again while it grows, until it rests or the
// reader takes over.
const whenShown = (act, ran = false) => {
  stop()
  let timer = 0
  let height = 0
  const stops = new AbortController()
  const look = records => {
    ran ||= records.some(record => record.type === "attributes")
    if (!ran || !act()) return
    const before = height
    height = page()?.scrollHeight // what a mark says under the mouse leaves it as it is
    if (height !== before || !resting()) {
      clearTimeout(timer)
      timer = 0
    }
    if (resting()) timer ||= setTimeout(stop, SETTLED_MS)
  }
  const watcher = new MutationObserver(look)
  const limit = setTimeout(() => stop(), LIMIT_MS)
  stop = () => {
    watcher.disconnect()
    stops.abort()
    clearTimeout(limit)
    clearTimeout(timer)
  }
  const byHand = event => event.target.closest?.("a.relic-link") || stop() // the second of two clicks changes nothing
  for (const name of HAND) addEventListener(name, byHand, { signal: stops.signal, capture: true, passive: true })
  watcher.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-test-script-state"] })
  look([])
}

const comeBack = () => {
  const left = leftPlaces()[named(location.href)]
  if (!left || keepsItsOwn(location.pathname)) return stop()
  let rested = 0
  whenShown(() => {
    const main = page()
    if (!main || document.title !== left.title) return false
    const around = left.id ? document.getElementById(left.id) : main
    const link = left.href && around && [...around.querySelectorAll("a[href]")].find(each => each.getAttribute("href") === left.href)
    if (left.href && !link) {
      if (!resting()) return false
      rested ||= Date.now()
      if (Date.now() - rested > MISSED_MS) return stop() // it is gone
    }
    main.scrollTop = left.top
    if (link && document.activeElement !== link) focus(link)
    return (link || !left.href) && Math.abs(main.scrollTop - left.top) < 2
  })
}

const arrive = (then, ran) => {
  const before = document.title
  whenShown(() => {
    const target = then ? document.querySelector(then) : page()?.querySelector("h1")
    if (!target || (!then && (document.title === before || keepsItsOwn(location.pathname)))) return false
    if (then) target.scrollIntoView({ block: "start", behavior: "instant" })
    if (document.activeElement !== target) focus(target)
    return true
  }, ran)
}

const follow = event => {
  const elsewhere = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
  const link = event.target.closest?.("a.relic-link")
  if (!link || elsewhere || event.defaultPrevented) return
  event.preventDefault()
  if (link.href === location.href) return // the second of two clicks
  const back = link.classList.contains("relic-back")
  history.pushState(null, "", (back && leftPlaces()[named(link.href)]?.address) || link.href)
  dispatchEvent(new PopStateEvent("popstate")) // not trusted, unlike the browser's own
  if (back) comeBack()
  else arrive(link.dataset.then)
}

// A server that was started anew knows nothing of an open page: without a run what is pressed or written first is lost.
// What is left in a fragment before that run is over it refuses, and takes with the second.
const runWhenConnectedAgain = () => {
  let runs = 0
  let lost = false
  new MutationObserver(() => {
    const state = app().testConnectionState
    const connected = state === "CONNECTED"
    if (lost && connected) runs = 2
    if (state) lost = !connected
    if (connected && runs && resting()) {
      runs -= 1
      window.relicRun()
    }
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-test-connection-state", "data-test-script-state"] })
}

// Once for a tab: what is waited for outlives the component, which is drawn anew on every page.
if (!window.relicLinks) {
  window.relicLinks = true
  history.scrollRestoration = "manual"
  document.addEventListener("click", event => {
    const link = event.target.closest?.("a[href]")
    if (link && !event.button && !link.getAttribute("href").startsWith("#")) leave(link)
  }, { capture: true })
  document.addEventListener("click", follow)
  addEventListener("popstate", event => event.isTrusted && comeBack())
  runWhenConnectedAgain()
}

export default function ({ data, setTriggerValue }) {
  window.relicRun = () => setTriggerValue("connected", true)
  if (!data?.nonce || window.relicBrought === data.nonce) return
  window.relicBrought = data.nonce
  arrive(data.to, true) // what it is to bring may stand there already
}
