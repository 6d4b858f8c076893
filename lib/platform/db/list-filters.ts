/** When the records of a list were created: `from` inclusive, `to` exclusive, RFC 3339. */
export interface CreatedBetween {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const createdBetween = ({
  from,
  to,
}: CreatedBetween): { createdAt?: { gte?: string; lt?: string } } => {
  const bounds = {
    ...(from === undefined ? {} : { gte: from }),
    ...(to === undefined ? {} : { lt: to }),
  };
  return from === undefined && to === undefined ? {} : { createdAt: bounds };
};

/** A list of allowed values as a Prisma condition; without a list every value is allowed. */
export const oneOf = <Field extends string, Value>(
  field: Field,
  values: readonly Value[] | undefined,
): Partial<Record<Field, { in: Value[] }>> =>
  values === undefined
    ? {}
    : ({ [field]: { in: [...values] } } as Record<Field, { in: Value[] }>);
