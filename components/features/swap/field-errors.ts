import { isShownWhole, sentence } from "@/components/ui/form-errors";
import { ApiError } from "@/lib/api-client/client";

/** Fields of the form, by the API's path; whatever else is at fault is shown below the form. */
const FIELD_PATH = /^(from\.\d+(\.(address|chainId|token|amount))?|toChainId|toToken|toAddress|slippageBps)$/;

export interface FieldErrors {
  /** API path → message. `from.0` without a field concerns the whole row. */
  readonly fields: ReadonlyMap<string, string>;
  /** Whether the fields say everything that the error says. */
  readonly complete: boolean;
}

const NONE: FieldErrors = { fields: new Map(), complete: false };

/** The messages that the API gave in `details`, by the path of their field in the form. */
export const fieldErrors = (error: unknown): FieldErrors => {
  if (!(error instanceof ApiError) || error.details.length === 0) return NONE;
  const fields = new Map<string, string>();
  for (const { path, message } of error.details)
    if (FIELD_PATH.test(path) && !fields.has(path)) fields.set(path, sentence(message));
  const complete = !isShownWhole(error.code) && error.details.every(({ path }) => FIELD_PATH.test(path));
  return { fields, complete };
};
