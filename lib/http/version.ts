/** Version of the interface description, and of the service that keeps it. */
export const VERSION = "1.0.0";
