import { Counter, register } from "prom-client";

const CALLBACKS = "causeway_callbacks_total";

// Next's bundle and the server's bundle both load this file; the registry is the process's one.
const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> => {
  const known = register.getSingleMetric(name);
  return known instanceof Counter
    ? (known as Counter<Label>)
    : new Counter<Label>({ name, help, labelNames: [...labelNames] });
};

const callbacks = counter(CALLBACKS, "Callbacks of providers, by source and what became of them", [
  "source",
  "outcome",
]);

export const callbackMetrics = {
  received: (source: string, outcome: string): void => callbacks.inc({ source, outcome }),
};
