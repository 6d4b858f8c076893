/** The form of the dry run of policies: its fields as text, and the request that they make once they are complete. */
import { amount, address } from "@/lib/contracts/common";
import type { BodyInput } from "@/lib/contracts/contract";
import type { evaluatePolicies } from "@/lib/contracts/policies";
import { readOrTyped } from "@/lib/core/read-amount";

export interface MovementValues {
  readonly wallet: string;
  /** Id of the chain. */
  readonly chain: string;
  readonly token: string;
  readonly amount: string;
  readonly to: string;
  /** Empty: a person. */
  readonly key: string;
}

type Movement = Omit<BodyInput<typeof evaluatePolicies>, "draft">;

export type MovementErrors = Partial<Record<"amount" | "to", string>>;

/** The errors in the typed values, by field; an empty field has none yet. */
export const movementErrors = (values: MovementValues): MovementErrors => {
  const typed = readOrTyped(values.amount);
  const to = values.to.trim();
  return {
    ...(typed === "" || amount.safeParse(typed).success
      ? {}
      : { amount: "Enter an amount above zero, such as 1,250.50." }),
    ...(to === "" || address.safeParse(to).success ? {} : { to: "Enter a whole address that begins with 0x." }),
  };
};

/** The movement to try; null while something is missing or wrong. */
export const movementOf = (values: MovementValues): Movement | null => {
  const { wallet, chain, token, key } = values;
  const [typed, recipient] = [readOrTyped(values.amount), values.to.trim()];
  if ([wallet, chain, token, typed, recipient].includes("")) return null;
  if (Object.keys(movementErrors(values)).length > 0) return null;
  return {
    fromWalletId: wallet,
    chainId: Number(chain),
    token,
    amount: typed,
    recipient,
    ...(key === "" ? {} : { keyId: key }),
  };
};
