import { token } from "../api/client";

type Listener = (data: unknown) => void;
export type Connection = "connecting" | "open" | "lost" | "refused";

const EVERY_MS = 250;
const LONGEST_WAIT_MS = 8000;

/**
 * One socket for the whole page. Views subscribe to topics; after a loss the socket connects again
 * by itself and asks for the same topics.
 */
export class Live {
  private socket: WebSocket | null = null;
  private readonly listeners = new Map<string, Set<Listener>>();
  private readonly watchers = new Set<() => void>();
  private wait = 250;
  private asked = "";
  state: Connection = "connecting";

  constructor(private readonly address: () => string) {}

  connect(): void {
    const known = token.get();
    const protocols = ["tidemill", ...(known ? [`tidemill.${base64url(known)}`] : [])];
    const socket = (this.socket = new WebSocket(this.address(), protocols));
    socket.onopen = () => this.opened();
    socket.onmessage = (event) => this.heard(String(event.data));
    socket.onclose = (event) => this.closed(event.code);
  }

  /** Hear of a topic; "graph" also brings "measures". Returns how to stop that. */
  subscribe(topic: string, listener: Listener): () => void {
    const known = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, known.add(listener));
    this.ask();
    return () => {
      known.delete(listener);
      if (known.size === 0) this.listeners.delete(topic);
      this.ask();
    };
  }

  /** Hear when the connection comes and goes. */
  watch(listener: () => void): () => void {
    this.watchers.add(listener);
    return () => this.watchers.delete(listener);
  }

  private opened(): void {
    this.wait = 250;
    this.asked = "";
    this.turn("open");
    this.ask();
  }

  private closed(code: number): void {
    // 4401 and 1008: the token is missing or wrong; asking again would not help.
    this.turn(code === 4401 || code === 1008 ? "refused" : "lost");
    if (this.state === "lost") setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT_MS);
  }

  private turn(state: Connection): void {
    this.state = state;
    this.watchers.forEach((each) => each());
  }

  private ask(): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const topics = [...this.listeners.keys()].filter((topic) => topic !== "measures").sort();
    const text = JSON.stringify({ subscribe: topics, every: EVERY_MS });
    if (text !== this.asked) this.socket.send(text);
    this.asked = text;
  }

  private heard(text: string): void {
    const { topic, data } = JSON.parse(text) as { topic: string; data: unknown };
    this.listeners.get(topic)?.forEach((each) => each(data));
  }
}

function base64url(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function here(): string {
  const address = new URL("api/live", location.href);
  address.protocol = address.protocol.replace("http", "ws");
  address.hash = "";
  return address.href;
}

export const live = new Live(here);
