import { Empty } from "../../parts/Help";

export default function ResourcesView(_: { rest: string }) {
  return (
    <Empty title="Resources">
      <p>This view is being built.</p>
    </Empty>
  );
}
