// What was not stored yet, kept in this browser: by user and policy, one draft for each tab.

function tab() {
  try {
    return (sessionStorage.tab ??= crypto.getRandomValues(new Uint32Array(2)).join("-"));
  } catch {
    return "here";
  }
}

export class Drafts {
  constructor(user, policy) {
    this.key = `draft:${user}:${policy}`;
    this.tab = tab();
  }

  all() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? {};
    } catch {
      return {};
    }
  }

  // Says whether it could be kept.
  keep(draft) {
    return this.write({ ...this.all(), [this.tab]: { ...draft, at: new Date().toISOString() } });
  }

  drop(tab = this.tab) {
    const { [tab]: _, ...others } = this.all();
    this.write(others);
  }

  write(drafts) {
    try {
      if (Object.keys(drafts).length) localStorage.setItem(this.key, JSON.stringify(drafts));
      else localStorage.removeItem(this.key);
      return true;
    } catch {
      return false;
    }
  }
}
