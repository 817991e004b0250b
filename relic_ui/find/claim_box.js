// Enter finds, as in other search boxes; Edit puts the cursor into the box.
export default function (component) {
  const gone = new AbortController()
  // The box folds away with the focus: it goes on to the line above the answer, unless the reader moved it meanwhile.
  const goOn = (from, looks) => {
    const line = document.querySelector('[class*="st-key-find_folded"] summary')
    if (line && document.activeElement === document.body) line.focus({ preventScroll: true })
    else if (looks && [from, document.body].includes(document.activeElement)) setTimeout(goOn, 150, from, looks - 1)
  }
  document.addEventListener("click", event => { // Enter comes here too
    const find = event.target.closest?.('[data-testid="stFormSubmitButton"] button[kind^="primary"]')
    if (find && box(find.closest('[data-testid="stForm"]') ?? document)) goOn(document.activeElement, 200)
  }, { signal: gone.signal, capture: true })
  const box = within => within.querySelector(`textarea[aria-label="${component.data.label}"]`)
  document.addEventListener("keydown", event => {
    const area = event.target
    const row = area.matches?.('[class*="st-key-find_conditions"] input:not([role])')
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || (area !== box(document) && !row)) return
    if (event.ctrlKey || event.metaKey) return // Streamlit's own
    const find = area.closest('[data-testid="stForm"]')?.querySelector(
      '[data-testid="stFormSubmitButton"] button[kind^="primary"]')
    if (!find) return
    event.preventDefault()
    if (row) event.stopPropagation() // Streamlit would press the first button of the form, which removes a row
    find.click()
  }, { signal: gone.signal, capture: true })
  document.addEventListener("toggle", event => {
    const details = event.target
    if (details.open && details.closest('[class*="st-key-find_folded"]')) box(details)?.focus()
  }, { signal: gone.signal, capture: true })
  return () => gone.abort()
}
