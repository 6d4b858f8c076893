import type { Database, Queryable } from "@/lib/db/client";
import { findUser } from "./repository";

/** The facts about a person that other modules may know: an address for mail, and the sign-in wallet. */
export interface People {
  /** The address for one-time codes; null until one is verified. */
  verifiedEmail(userId: string, db?: Queryable): Promise<string | null>;
  /** The wallet that the person signs in with; `contractChainId` is null for a plain account. */
  signInWallet(userId: string): Promise<{ readonly address: string; readonly contractChainId: number | null } | null>;
}

export const createPeople = ({ database }: { readonly database: Database }): People => ({
  verifiedEmail: async (userId, db = database.prisma) => {
    const user = await findUser(db, userId);
    return user?.emailVerifiedAt ? user.email : null;
  },
  signInWallet: (userId) => findUser(database.prisma, userId),
});
