/**
 * What is pointed at. It changes with every move of the mouse, so it is kept outside React: the
 * elements of parts are dimmed where they are, and the lines are drawn again.
 */
export class Spot {
  private readonly elements = new Map<string, Set<HTMLElement>>();
  private readonly listeners = new Set<() => void>();
  private pointed: ReadonlySet<string> | null = null;
  private searched: ReadonlySet<string> | null = null;

  /** What is in the light; null if everything is. */
  get lit(): ReadonlySet<string> | null {
    return this.pointed ?? this.searched;
  }

  isDim(id: string): boolean {
    return this.lit !== null && !this.lit.has(id);
  }

  point(ids: ReadonlySet<string> | null): void {
    this.pointed = ids;
    this.show();
  }

  search(ids: ReadonlySet<string> | null): void {
    this.searched = ids;
    this.show();
  }

  /** An element that shows something; returns how to let go of it. */
  hold(id: string, element: HTMLElement): () => void {
    const held = this.elements.get(id) ?? new Set();
    this.elements.set(id, held.add(element));
    element.classList.toggle("dim", this.isDim(id));
    return () => {
      held.delete(element);
      if (held.size === 0) this.elements.delete(id);
    };
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private show(): void {
    for (const [id, held] of this.elements) held.forEach((each) => each.classList.toggle("dim", this.isDim(id)));
    this.listeners.forEach((each) => each());
  }
}

export const spot = new Spot();
