import { ApiError } from "@/lib/api-client/client";

/** Returns the status and code of a refused call, such as `409 invalid_state`. */
export const codeOf = async (call: Promise<unknown>): Promise<string> => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  return error instanceof ApiError ? `${String(error.status)} ${error.code}` : "no error";
};
