import { Component, type ReactNode } from "react";
import { Trouble } from "../parts/Help";

/** A view that fails says so in its place, and does not take the whole page with it. */
export class Guard extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    if (!this.state.error) return this.props.children;
    return (
      <div className="pad">
        <Trouble problem={{ message: "This view has failed", help: this.state.error.message }} />
        <button onClick={() => this.setState({ error: null })}>Try again</button>
      </div>
    );
  }
}
