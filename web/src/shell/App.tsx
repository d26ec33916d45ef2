import { lazy, Suspense, useEffect, useState, type ComponentType } from "react";
import { get, Refused, token } from "../api/client";
import type { Info } from "../api/types";
import { useConnection } from "../live/hooks";
import { live } from "../live/socket";
import { Guard } from "./Guard";
import { linkTo, useRoute, type View } from "./routes";
import { ThemeButton } from "./ThemeButton";
import { TokenForm } from "./TokenForm";

const VIEWS: { view: View; title: string; page: ComponentType<{ rest: string }> }[] = [
  { view: "graph", title: "Graph", page: lazy(() => import("../views/graph/GraphView")) },
  { view: "queries", title: "Queries", page: lazy(() => import("../views/queries/QueriesView")) },
  { view: "compose", title: "Compose", page: lazy(() => import("../views/compose/ComposeView")) },
  { view: "resources", title: "Resources", page: lazy(() => import("../views/resources/ResourcesView")) },
];

/** The frame of the page: where one can go, and whether the server is heard. */
export function App() {
  const route = useRoute();
  const [needsToken, setNeedsToken] = useState<boolean | null>(null);
  useEffect(() => {
    get<Info>("info")
      .then(() => enter())
      .catch((error) => (error instanceof Refused && error.status === 401 ? setNeedsToken(true) : enter()));
    function enter() {
      setNeedsToken(false);
      live.connect();
    }
  }, []);
  const here = VIEWS.find((each) => each.view === route.view)!;
  useEffect(() => {
    document.title = route.rest ? `${route.rest} · Tidemill` : `${here.title} · Tidemill`;
  }, [here, route.rest]);
  if (needsToken === null) return null;
  if (needsToken) return <TokenForm accept={(value) => (token.set(value), location.reload())} />;
  return (
    <div className="app">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="bar">
        <a className="brand" href={linkTo("graph")}>
          <img src="./tidemill.svg" alt="" width="24" height="24" /> Tidemill
        </a>
        <nav aria-label="Views">
          {VIEWS.map(({ view, title }) => (
            <a key={view} href={linkTo(view)} aria-current={view === route.view ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <ConnectionSign />
        <ThemeButton />
      </header>
      <main id="main" className={`view-${route.view}`} tabIndex={-1}>
        <Guard key={here.view}>
          <Suspense fallback={<p className="quiet pad">Loading…</p>}>
            <here.page rest={route.rest} />
          </Suspense>
        </Guard>
      </main>
    </div>
  );
}

const WORDS = { connecting: "connecting", open: "live", lost: "connection lost", refused: "not allowed" };

function ConnectionSign() {
  const state = useConnection();
  return (
    <span className={`connection ${state}`} role="status">
      <span className="dot" aria-hidden /> {WORDS[state]}
    </span>
  );
}
