import { Empty } from "../../parts/Help";

export default function ComposeView(_: { rest: string }) {
  return (
    <Empty title="Compose">
      <p>This view is being built.</p>
    </Empty>
  );
}
