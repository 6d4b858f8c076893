/** Forms of the secrets in the environment. Keys that are marked `dev_` are refused in production. */
import { z } from "zod";

const SECRET_LENGTH_MIN = 32;

export const privateKey = z.string().regex(/^(dev_)?0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits");
export const encryptionKey = z.string().regex(/^(dev_)?[0-9a-fA-F]{64}$/, "must be 64 hex digits (32 bytes)");
export const secret = z.string().min(SECRET_LENGTH_MIN, `must have at least ${String(SECRET_LENGTH_MIN)} characters`);
