import { Empty } from "../../parts/Help";

export default function GraphView(_: { rest: string }) {
  return (
    <Empty title="Graph">
      <p>This view is being built.</p>
    </Empty>
  );
}
