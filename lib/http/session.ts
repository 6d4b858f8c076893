import { getServerSession, type Session } from "next-auth";
import { cache } from "react";
import { authOptions } from "./next-auth";

/**
 * The signed-in person of this request, for server components. Null without a session or when it
 * has ended. Read only once per request.
 */
export const getBrowserSession = cache(async (): Promise<Session | null> => {
  const session = await getServerSession(authOptions());
  return session?.accessToken === undefined ? null : session;
});
