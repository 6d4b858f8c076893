/** Version of the interface description and of the service. */
export const VERSION = "1.0.0";
