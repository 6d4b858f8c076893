import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import { hasAnyUser, hasUser, lockFirstSignUp } from "./repository";

/** The rule for first sign-ins. `closed` admits the first person of an empty installation and nobody afterwards. */
export type SignUpRule =
  { readonly mode: "open" | "closed" } | { readonly mode: "allow-list"; readonly addresses: readonly string[] };

const closed = (): DomainError =>
  new DomainError(
    "sign_up_closed",
    "This address has no account here, and sign-up is closed. Ask whoever runs this installation to let you in.",
  );

/**
 * Whether this is the first person of the installation. Of any number of people at once, one is: the others wait for that one's
 * transaction, and then find somebody. The first person may be among them, who signs in twice at once.
 */
const isFirst = async (tx: Tx, address: string): Promise<boolean> => {
  if (await hasAnyUser(tx)) return false;
  await lockFirstSignUp(tx);
  return !(await hasAnyUser(tx)) || hasUser(tx, address);
};

/**
 * Lets people in who are known, and new ones where the rule admits them.
 * @param address checksummed
 * @throws DomainError `sign_up_closed`
 */
export const admitSignUp = async (tx: Tx, rule: SignUpRule, address: string): Promise<void> => {
  if (rule.mode === "open" || (await hasUser(tx, address))) return;
  if (rule.mode === "allow-list" ? rule.addresses.includes(address) : await isFirst(tx, address)) return;
  throw closed();
};
