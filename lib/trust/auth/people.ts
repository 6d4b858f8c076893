import type { Database, Queryable } from "@/lib/platform/db/client";
import { findUser } from "./repository";

/** Facts about a person for other modules: an address for mail, and the sign-in wallet. */
export interface People {
  /** The address for one-time codes; null until one is verified. */
  verifiedEmail(userId: string, db?: Queryable): Promise<string | null>;
  /**
   * The verified address; null until one is verified. Codes that are sent to the address approve
   * nothing until `heldUntil`. `heldUntil` is null when the address may approve without a wait.
   */
  codeAddress(
    userId: string,
  ): Promise<{ readonly email: string; readonly heldUntil: Date | null } | null>;
  /** The person's sign-in wallet; `contractChainId` is null for a plain account. */
  signInWallet(
    userId: string,
  ): Promise<{ readonly address: string; readonly contractChainId: number | null } | null>;
}

export const createPeople = ({ database }: { readonly database: Database }): People => ({
  verifiedEmail: async (userId, db = database.prisma) => {
    const user = await findUser(db, userId);
    return user?.emailVerifiedAt ? user.email : null;
  },
  codeAddress: async (userId) => {
    const user = await findUser(database.prisma, userId);
    if (user?.email == null || user.emailVerifiedAt === null) return null;
    return { email: user.email, heldUntil: user.emailHeldUntil };
  },
  signInWallet: (userId) => findUser(database.prisma, userId),
});
