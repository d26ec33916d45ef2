import { arrange, arrangeAnew, type Item, type Places } from "./layout";

export interface Wanted {
  number: number;
  items: Item[];
  known: Places | null;
}

onmessage = ({ data }: MessageEvent<Wanted>) => {
  const places = data.known ? arrange(data.items, data.known) : arrangeAnew(data.items);
  postMessage({ number: data.number, places });
};
