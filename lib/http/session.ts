import { getServerSession, type Session } from "next-auth";
import { cache } from "react";
import { authOptions } from "./next-auth";

/**
 * The signed-in person of this request, for server components. Null when there is no session or
 * when the session has ended. The session is read only once per request.
 */
export const getBrowserSession = cache(async (): Promise<Session | null> => {
  const session = await getServerSession(authOptions());
  return session?.accessToken === undefined ? null : session;
});
