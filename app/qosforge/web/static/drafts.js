// What was not stored yet, kept in this browser: by user and policy, one draft for each time that an editor is opened,
// so that no draft takes the place of another one.

export class Drafts {
  constructor(user, policy) {
    this.key = `draft:${user}:${policy}`;
    this.own = crypto.getRandomValues(new Uint32Array(2)).join("-");
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
    return this.write({ ...this.all(), [this.own]: { ...draft, at: new Date().toISOString() } });
  }

  drop(id = this.own) {
    const { [id]: _, ...others } = this.all();
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
