import { HEIGHT, PITCH, WIDTH, type Places } from "./layout";
import { usersOf, type Drawn } from "./picture";

const MARGIN = 28;
/** No smaller than this at first: the overview of a part can still be read. */
const SMALLEST = 0.3;

/** Where to look first: at everything, or else at the source that most queries read. */
export function firstSight(drawn: Drawn[], places: Places, width: number, height: number): { x: number; y: number; zoom: number } {
  const all = Object.values(places);
  const left = Math.min(...all.map((place) => place.x)) - WIDTH / 2;
  const right = Math.max(...all.map((place) => place.x)) + WIDTH / 2;
  const tall = (Math.max(...all.map((place) => place.row)) + 1) * PITCH - (PITCH - HEIGHT);
  const whole = Math.min((width - 2 * MARGIN) / (right - left), (height - 2 * MARGIN) / tall, 1);
  const zoom = Math.max(whole, SMALLEST);
  const middle = right - left <= width / zoom ? (left + right) / 2 : places[favourite(drawn)]!.x;
  return { x: width / 2 - middle * zoom, y: Math.max(MARGIN, (height - tall * zoom) / 2.6), zoom };
}

function favourite(drawn: Drawn[]): string {
  const sources = drawn.filter((each) => each.inputs.length === 0);
  return sources.reduce((best, each) => (usersOf(each).length > usersOf(best).length ? each : best), sources[0]!).id;
}
