import type { Contract } from "@/lib/contracts/contract";
import { histogram } from "./metric-registry";

const requestSeconds = histogram({
  name: "causeway_http_request_duration_seconds",
  help: "Time from request to answer, by path template",
  labels: ["method", "path", "status"],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

type Child = ReturnType<typeof requestSeconds.labels>;
const children = new Map<Contract, Map<number, Child>>();

/** By path template (`/operations/{id}`), never by the concrete path: each label value is a series of its own. */
export const observeRequest = (contract: Contract, status: number, seconds: number): void => {
  let byStatus = children.get(contract);
  if (!byStatus) children.set(contract, (byStatus = new Map<number, Child>()));
  let child = byStatus.get(status);
  if (!child) byStatus.set(status, (child = requestSeconds.labels(contract.method, contract.path, String(status))));
  child.observe(seconds);
};
