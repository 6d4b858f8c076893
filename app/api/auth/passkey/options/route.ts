import { startPasskeySignIn } from "@/lib/contracts/passkeys";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: startPasskeySignIn,
  handler: async ({ services }) => ok({ options: await services.auth.startPasskeySignIn() }),
});
