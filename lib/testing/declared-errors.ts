/** Compares the errors that the API answers with those that its contracts declare. */
import { z } from "zod";
import type { Contract } from "@/lib/contracts/contract";
import { ERROR_CODES } from "@/lib/core/errors";
import { errorCodes } from "@/lib/http/openapi-errors";

const problem = z.object({ code: z.enum(ERROR_CODES) });

/**
 * The fault of an answer that the OpenAPI document does not describe: an error without a known code, or with a code that the contract
 * does not declare. Null when the answer is described.
 */
export const undeclaredError = async (contract: Contract, answer: Response): Promise<string | null> => {
  if (answer.status < 400) return null;
  const operation = `${contract.method} ${contract.path}`;
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => null);
  const parsed = problem.safeParse(body);
  if (!parsed.success) return `${operation} answered ${String(answer.status)} without an error code.`;
  const { code } = parsed.data;
  return errorCodes(contract).has(code) ? null : `${operation} answered ${code}, which its contract does not declare.`;
};
