import { randomBytes } from "node:crypto";
import { referenceFrame } from "@/lib/http/api-reference";

const NONCE_BYTES = 16;

// The response must not be cached, because each response needs its own nonce.
export const dynamic = "force-dynamic";

/** Serves the document of the frame on /api-reference, with its own content security policy. */
export const GET = (): Promise<Response> =>
  referenceFrame(randomBytes(NONCE_BYTES).toString("base64"));
