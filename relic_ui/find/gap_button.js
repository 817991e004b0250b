export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const button = parentElement.querySelector("button")
  button.onclick = () => {
    const area = document.querySelector(`textarea[aria-label="${data.label}"]`)
    if (!area) return
    const start = area.selectionStart ?? area.value.length
    const end = area.selectionEnd ?? start
    setTriggerValue("gap", { before: area.value.slice(0, start), after: area.value.slice(end) })
  }
}
