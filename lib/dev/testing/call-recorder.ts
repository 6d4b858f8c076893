/**
 * Records the successful calls of integration tests; `scripts/record-examples.ts` creates examples
 * from them.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { namedContracts } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";

/** File of the recorded calls, one in each line: `{ operationId, request?, response }`. */
export const RECORDED_CALLS = resolve(".data/recorded-calls.ndjson");

const jsonOf = async (message: Request | Response): Promise<unknown> => {
  const text = await message.text().catch(() => "");
  return text === "" ? undefined : (JSON.parse(text) as unknown);
};

/**
 * Appends a call whose answer has the contract's status, as JSON.
 * @param request a copy whose body was not read yet
 */
export const recordCall = async (
  contract: Contract,
  request: Request,
  answer: Response,
): Promise<void> => {
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
  if (answer.status !== contract.status || !isJson) return;
  const operationId = namedContracts.find((one) => one.contract === contract)?.operationId;
  if (operationId === undefined) return;
  const call = {
    operationId,
    request: await jsonOf(request),
    response: await jsonOf(answer.clone()),
  };
  mkdirSync(dirname(RECORDED_CALLS), { recursive: true });
  appendFileSync(RECORDED_CALLS, `${JSON.stringify(call)}\n`);
};
