/** Form values of the policy dry run, and the request that is built from them. */
import { amount, address } from "@/lib/contracts/common";
import type { BodyInput } from "@/lib/contracts/contract";
import type { evaluatePolicies } from "@/lib/contracts/policies";
import { readOrTyped } from "@/lib/core/read-amount";

export interface MovementValues {
  readonly wallet: string;
  readonly chain: string;
  readonly token: string;
  readonly amount: string;
  readonly to: string;
  /** Id of the API key that would start the movement; empty when a person would. */
  readonly key: string;
}

type Movement = Omit<BodyInput<typeof evaluatePolicies>, "draft">;

/** The errors in the values, by field. An empty field is not an error. */
export const movementErrors = (values: MovementValues): { amount?: string; to?: string } => {
  const typed = readOrTyped(values.amount);
  const to = values.to.trim();
  const errors: ReturnType<typeof movementErrors> = {};
  if (typed !== "" && !amount.safeParse(typed).success)
    errors.amount = "Enter an amount above zero, such as 1,250.50.";
  if (to !== "" && !address.safeParse(to).success)
    errors.to = "Enter a whole address that begins with 0x.";
  return errors;
};

/** The movement to try; null while something is missing or wrong. */
export const movementOf = (values: MovementValues): Movement | null => {
  const { wallet, chain, token, key } = values;
  const typed = readOrTyped(values.amount);
  const toAddress = values.to.trim();
  if ([wallet, chain, token, typed, toAddress].includes("")) return null;
  if (Object.keys(movementErrors(values)).length > 0) return null;
  return {
    fromWalletId: wallet,
    fromChainId: Number(chain),
    token,
    amount: typed,
    toAddress,
    keyId: key === "" ? undefined : key,
  };
};
