import { raw, type Statement } from "./statement";

/**
 * SQL for the text that names the person `u`, a row of `app_user`: "Ada Lovelace
 * (ada@example.com)", or only the verified address when there is no display name. A display name
 * is not proven, so the text always contains a proven name beside it.
 * @param otherwise SQL, made of columns of `u`, for the proven name of a person without a verified
 * address
 */
export const personLabel = (otherwise: string): Statement => {
  const proven = `coalesce(CASE WHEN u.email_verified_at IS NOT NULL THEN u.email END, ${otherwise})`;
  return raw(`coalesce(u.name || ' (' || ${proven} || ')', ${proven})`);
};
