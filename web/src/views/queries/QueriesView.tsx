import { Empty } from "../../parts/Help";

export default function QueriesView(_: { rest: string }) {
  return (
    <Empty title="Queries">
      <p>This view is being built.</p>
    </Empty>
  );
}
