import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { getServices } from "@/lib/composition";
import { isDomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { getLogger, loggedError } from "@/lib/platform/log/logger";
import { authOptions } from "@/lib/http/next-auth";
import { checkNextAuthRequest } from "@/lib/http/next-auth-request";
import { toResponse } from "@/lib/http/problem";

interface Context {
  readonly params: Promise<{ nextauth: string[] }>;
}

// next-auth defines this protocol for the dashboard's cookie. It is not part of the public API, so
// it has no contract, and only Next serves it.
const handler = async (request: NextRequest, context: Context): Promise<Response> => {
  try {
    const { url, method, headers } = request;
    // server.ts has already limited the size of the body.
    const body = method === "POST" ? await request.clone().text() : "";
    checkNextAuthRequest({ url, method, contentType: headers.get("content-type") ?? "", body });
    return (await NextAuth(request, context, authOptions())) as Response;
  } catch (error) {
    if (!isDomainError(error))
      getLogger(getServices().config.logLevel).error(
        { err: loggedError(error) },
        "next-auth failed",
      );
    return toResponse(error, newId("request"), { publicUrl: getServices().config.publicUrl });
  }
};

export { handler as GET, handler as POST };
