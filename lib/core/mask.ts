/** `ada@example.org` → `a••@example.org`: enough to recognise, too little to learn. */
export const maskEmail = (email: string): string => {
  const at = email.lastIndexOf("@");
  return at < 1 ? "•••" : `${email.slice(0, 1)}••${email.slice(at)}`;
};
