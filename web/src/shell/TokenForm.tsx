import { useState } from "react";

/** Asks for the token that a server beyond this machine wants. */
export function TokenForm({ accept }: { accept: (token: string) => void }) {
  const [value, setValue] = useState("");
  return (
    <form
      className="card token"
      onSubmit={(event) => {
        event.preventDefault();
        accept(value.trim());
      }}
    >
      <h1>This server asks for a token</h1>
      <p>It was printed, or given with --token, when `tidemill serve` was started.</p>
      <label>
        Token <input type="password" value={value} onChange={(e) => setValue(e.target.value)} autoFocus />
      </label>
      <button type="submit" className="primary" disabled={!value.trim()}>
        Continue
      </button>
    </form>
  );
}
