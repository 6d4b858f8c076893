import type { Database } from "@/lib/db/client";
import { findUser } from "./repository";

/** What other modules may know of a person: how to reach them, and the wallet that is theirs. */
export interface People {
  /** Where one-time codes go; null until an address was verified. */
  verifiedEmail(userId: string): Promise<string | null>;
  /** The wallet that the person signs in with; `contractChainId` is null for a plain account. */
  signInWallet(userId: string): Promise<{ readonly address: string; readonly contractChainId: number | null } | null>;
}

export const createPeople = ({ database }: { readonly database: Database }): People => ({
  verifiedEmail: async (userId) => {
    const user = await findUser(database.prisma, userId);
    return user?.emailVerifiedAt ? user.email : null;
  },
  signInWallet: (userId) => findUser(database.prisma, userId),
});
