import type { Problem } from "./types";

/** What the server refused, with its place in the text if it has one. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.message);
  }
}

const TOKEN = "tidemill-token";

/** The token that a server beyond this machine asks for; kept for this tab only. */
export const token = {
  get: (): string | null => sessionStorage.getItem(TOKEN),
  set: (value: string): void => sessionStorage.setItem(TOKEN, value),
};

function headers(body: unknown): HeadersInit {
  const known = token.get();
  return {
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(known ? { Authorization: `Bearer ${known}` } : {}),
  };
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = await response.json();
    return body.error ?? { message: `the server said ${response.status}` };
  } catch {
    return { message: `the server said ${response.status} ${response.statusText}` };
  }
}

/** Asks the server; throws `Refused` with the server's own words. */
export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`api/${path}`, {
      method,
      headers: headers(body),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ?? null,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused(0, { message: "the server cannot be reached", help: "is `tidemill serve` running?" });
  }
  if (!response.ok) throw new Refused(response.status, await problemOf(response));
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => call<T>("GET", path, undefined, signal);
export const post = <T>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<T> =>
  call<T>("POST", path, body, signal);

/** A name as a part of an address. */
export const part = encodeURIComponent;
