// Before anything is drawn: the theme that was chosen here, else the one that the system prefers.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // storage is switched off: the system's preference counts
}
