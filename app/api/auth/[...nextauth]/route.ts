import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { authOptions } from "@/lib/http/next-auth";

interface Context {
  readonly params: Promise<{ nextauth: string[] }>;
}

// next-auth's own protocol for the dashboard's cookie, so not a route of the API's: no contract, served by Next alone.
const handler = (request: NextRequest, context: Context): Promise<Response> =>
  NextAuth(request, context, authOptions()) as Promise<Response>;

export { handler as GET, handler as POST };
