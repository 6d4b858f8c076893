import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import { hasAnyUser, hasUser, lockFirstSignUp } from "./repository";

/** The rule for first sign-ins. `closed` admits the first person of an empty installation, and after that only who is invited. */
export type SignUpRule =
  | { readonly mode: "open" | "closed" }
  | { readonly mode: "allow-list"; readonly addresses: readonly string[] };

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

interface SignUp {
  readonly rule: SignUpRule;
  /** Checksummed. */
  readonly address: string;
  /** Whether the person brings the token of an open invitation. It is asked only about people who are new here. */
  readonly isInvited: () => Promise<boolean>;
}

/**
 * Admits known people, invited ones, and new ones if the rule allows it.
 * @throws DomainError `sign_up_closed`
 */
export const admitSignUp = async (tx: Tx, { rule, address, isInvited }: SignUp): Promise<void> => {
  if (rule.mode === "open" || (await hasUser(tx, address)) || (await isInvited())) return;
  if (rule.mode === "allow-list" ? rule.addresses.includes(address) : await isFirst(tx, address)) return;
  throw closed();
};
