/** Keeps the successful calls of integration tests during a recording of examples; `scripts/record-examples.ts` makes examples of them. */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { namedContracts } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";

/** One call in each line: `{ operationId, request?, response }`. */
export const RECORDED_CALLS = resolve(".data/recorded-calls.ndjson");

const jsonOf = async (message: Request | Response): Promise<unknown> => {
  const text = await message.text().catch(() => "");
  return text === "" ? undefined : (JSON.parse(text) as unknown);
};

/**
 * Appends a call that was answered with the status of its contract, as JSON.
 * @param request a copy that nobody has read yet
 */
export const recordCall = async (contract: Contract, request: Request, answer: Response): Promise<void> => {
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
  if (answer.status !== contract.status || !isJson) return;
  const operationId = namedContracts.find((one) => one.contract === contract)?.operationId;
  if (operationId === undefined) return;
  const call = { operationId, request: await jsonOf(request), response: await jsonOf(answer.clone()) };
  mkdirSync(dirname(RECORDED_CALLS), { recursive: true });
  appendFileSync(RECORDED_CALLS, `${JSON.stringify(call)}\n`);
};
