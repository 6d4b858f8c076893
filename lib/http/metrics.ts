import type { Contract } from "@/lib/contracts/contract";
import { histogram } from "@/lib/platform/telemetry/registry";

const requestSeconds = histogram({
  name: "causeway_http_request_duration_seconds",
  help: "Time from request to answer, by path template and class of the status (2xx, 4xx, …)",
  labels: ["method", "path", "status"],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

type Child = ReturnType<typeof requestSeconds.labels>;
const children = new Map<Contract, Map<string, Child>>();

/**
 * Records the duration of a request. Its label is the path template (`/operations/{id}`), never
 * the concrete path, because each label value creates a separate series.
 */
export const observeRequest = (contract: Contract, status: number, seconds: number): void => {
  const statusClass = `${String(Math.floor(status / 100))}xx`;
  let byClass = children.get(contract);
  if (!byClass) children.set(contract, (byClass = new Map<string, Child>()));
  let child = byClass.get(statusClass);
  if (!child)
    byClass.set(
      statusClass,
      (child = requestSeconds.labels(contract.method, contract.path, statusClass)),
    );
  child.observe(seconds);
};
