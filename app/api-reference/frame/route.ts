import { randomBytes } from "node:crypto";
import { referenceFrame } from "@/lib/http/api-reference";

const NONCE_BYTES = 16;

// A nonce is good for one answer.
export const dynamic = "force-dynamic";

/** The document of the frame on /api-reference, under a content security policy of its own. */
export const GET = (): Promise<Response> => referenceFrame(randomBytes(NONCE_BYTES).toString("base64"));
