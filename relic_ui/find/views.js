const KEPT = "relic-view" // localStorage: of a person and a width, the view chosen last
export default function (component) {
  const { data, setTriggerValue } = component
  const gone = new AbortController()
  const width = () => innerWidth < 900 ? "narrow" : "wide"
  const place = () => `${KEPT} ${data.who} ${width()}`
  const kept = (value) => {
    try {
      if (value) localStorage.setItem(place(), value)
      return localStorage.getItem(place()) ?? ""
    } catch {
      return "" // a browser that keeps nothing
    }
  }
  if (data.chosen && width() === data.width) kept(data.chosen)
  let told = data.width
  const tell = (anyhow) => {
    if (width() === told && !anyhow) return
    told = width()
    setTriggerValue("seen", { width: told, view: kept() })
  }
  addEventListener("resize", () => tell(false), { signal: gone.signal })
  tell(!data.told && kept() !== "") // what the server takes for granted need not be said: it would draw the page anew
  return () => gone.abort()
}
