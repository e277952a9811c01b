// Copies a text that is shown once, and shows passwords to whoever types them.

document.body.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copies);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    document.execCommand("copy"); // without TLS browsers know no other way
  }
  button.parentElement.querySelector("[data-copied]").hidden = false;
});

document.body.addEventListener("change", (event) => {
  const shows = event.target.dataset.shows;
  if (!shows) return;
  for (const field of document.getElementById(shows).querySelectorAll('input[name="current"], input[name="new"], input[name="password"]')) {
    field.type = event.target.checked ? "text" : "password";
  }
});
