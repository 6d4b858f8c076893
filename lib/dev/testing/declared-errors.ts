/** Compares the API's error answers with the errors that its contracts declare. */
import { z } from "zod";
import { errorBody } from "@/lib/contracts/error-body";
import type { Contract } from "@/lib/contracts/contract";
import { getReadiness } from "@/lib/contracts/system";
import { ERROR_CODES } from "@/lib/core/errors";
import { errorCodes } from "@/lib/http/openapi-errors";

const problem = z.object({ code: z.enum(ERROR_CODES) });
const described = new Set(Object.keys(errorBody.shape));

/**
 * Describes how an error answer contradicts the OpenAPI document: an unknown code, a code that the
 * contract does not declare, or a field that the error schema does not have. Null when the answer
 * fits the document.
 */
export const undeclaredError = async (
  contract: Contract,
  answer: Response,
): Promise<string | null> => {
  if (answer.status < 400) return null;
  // A 503 of the readiness check is not an error body: it has the form of the normal answer, and
  // names what is missing.
  if (contract.path === getReadiness.path) return null;
  const operation = `${contract.method} ${contract.path}`;
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => null);
  const parsed = problem.safeParse(body);
  if (!parsed.success)
    return `${operation} answered ${String(answer.status)} without an error code.`;
  const { code } = parsed.data;
  if (!errorCodes(contract).has(code))
    return `${operation} answered ${code}, which its contract does not declare.`;
  const unknown = Object.keys(body as object).filter((name) => !described.has(name));
  return unknown.length === 0
    ? null
    : `${operation} answered ${code} with ${unknown.join(", ")}, which lib/contracts/error-fields.ts does not have.`;
};
