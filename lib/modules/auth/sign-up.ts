import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import { hasAnyUser, hasUser, lockFirstSignUp } from "./repository";

/** The rule for first sign-ins. `closed` admits only the first person of an empty installation. */
export type SignUpRule =
  { readonly mode: "open" | "closed" } | { readonly mode: "allow-list"; readonly addresses: readonly string[] };

const closed = (): DomainError =>
  new DomainError(
    "sign_up_closed",
    "This address has no account here, and sign-up is closed. Ask whoever runs this installation to let you in.",
  );

/**
 * Whether this is the first person of the installation. Concurrent first sign-ins wait for each other's transaction, so
 * only one of them finds the table empty. The same person may sign in twice at once.
 */
const isFirst = async (tx: Tx, address: string): Promise<boolean> => {
  if (await hasAnyUser(tx)) return false;
  await lockFirstSignUp(tx);
  return !(await hasAnyUser(tx)) || hasUser(tx, address);
};

/**
 * Admits known people, and new ones if the rule allows it.
 * @param address checksummed
 * @throws DomainError `sign_up_closed`
 */
export const admitSignUp = async (tx: Tx, rule: SignUpRule, address: string): Promise<void> => {
  if (rule.mode === "open" || (await hasUser(tx, address))) return;
  if (rule.mode === "allow-list" ? rule.addresses.includes(address) : await isFirst(tx, address)) return;
  throw closed();
};
