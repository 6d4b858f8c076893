/** Code of the failure of a batch in doubt: another operation may have made its payments. */
export const IN_DOUBT_CODE = "source_replaced";
