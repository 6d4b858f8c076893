import { raw, type Statement } from "./statement";

/**
 * SQL for the text that names the person `u`, a row of `app_user`: "Ada Lovelace
 * (ada@example.com)", or without a display name the verified address alone. Nothing proves a
 * display name, so what is proven always stands beside it.
 * @param otherwise SQL for what is proven where no address is verified, made of columns of `u`
 */
export const personLabel = (otherwise: string): Statement => {
  const proven = `coalesce(CASE WHEN u.email_verified_at IS NOT NULL THEN u.email END, ${otherwise})`;
  return raw(`coalesce(u.name || ' (' || ${proven} || ')', ${proven})`);
};
