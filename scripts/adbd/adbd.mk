# Compiles Google's adbd for this host out of Debian's source package; called by scripts/adbd/build.
#
#   make -f adbd.mk SOURCE=… CRYPTO=… HERE=…
#
# The lists are those of the package's Android.bp files for a daemon on a host (adbd, libadbd_core,
# libadbd_services and what they are linked with), less what nothing here calls.

CORE := $(SOURCE)/system/core
AUTH := $(SOURCE)/frameworks/native/libs/adbd_auth

BASE := abi_compatibility chrono_utils cmsg errors_unix file liblog_symbols logging mapped_file parsebool \
  parsenetaddress process properties stringprintf strings threads
LOG := event_tag_map log_event_list log_event_write logger_name logger_read logger_write logprint properties
CUTILS := android_get_control_file socket_inaddr_any_server_unix socket_local_client_unix \
  socket_local_server_unix socket_network_client_unix sockets sockets_unix threads trace-host
ADB := adb adb_io adb_listeners adb_trace adb_unique_fd adb_utils adbconnection/adbconnection_server \
  fdevent/fdevent fdevent/fdevent_epoll fdevent/fdevent_poll services shell_service_protocol socket_spec \
  sockets sysdeps/errno sysdeps/posix/network sysdeps_unix transport transport_fd transport_local \
  transport_usb types
DAEMON := auth file_sync_service jdwp_service main services shell_service usb_dummy

UNITS := $(BASE:%=base/%) $(LOG:%=liblog/%) $(CUTILS:%=libcutils/%) $(ADB:%=adb/%) $(DAEMON:%=adb/daemon/%) \
  diagnose_usb/diagnose_usb libasyncio/AsyncIO
OBJECTS := $(UNITS:%=$(CORE)/%.o) $(CORE)/libcrypto_utils/android_pubkey.o $(AUTH)/adbd_auth.o

INCLUDES := $(HERE)/include $(CRYPTO)/usr/include/android $(CORE)/include $(AUTH)/include $(CORE)/adb \
  $(CORE)/adb/daemon/include $(CORE)/adb/adbconnection/include \
  $(patsubst %,$(CORE)/%/include,base diagnose_usb libasyncio libcrypto_utils libcutils liblog)
# ALLOW_ADBD_NO_AUTH: ro.adb.secure decides whether keys are asked for, as on a build for engineers.
# -w: warnings of somebody else's code are nobody's here.
DEFINES := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DNDEBUG -DADB_HOST=0 -DALLOW_ADBD_NO_AUTH -DALLOW_ADBD_ROOT=0 \
  -DFAKE_LOG_DEVICE=1 -DLIBLOG_LOG_TAG=1006 -DSNET_EVENT_LOG_TAG=1397638484 \
  -DPLATFORM_TOOLS_VERSION='"$(VERSION)"' -DADB_VERSION='"$(VERSION)"'
FLAGS := -O1 -w -fPIC -fcommon -fno-exceptions -fno-strict-aliasing -include $(HERE)/include/host.h \
  $(DEFINES) $(INCLUDES:%=-I%)

adbd: $(OBJECTS)
	$(CXX) -o $@ $^ $(wildcard $(CRYPTO)/usr/lib/*/android/libcrypto.so.0) \
	  -Wl,-rpath,'$$ORIGIN/../lib64' -lpthread -lresolv -lutil
%.o: %.cpp
	$(CXX) -std=gnu++2a $(FLAGS) -c -o $@ $<
%.o: %.c
	$(CC) $(FLAGS) -c -o $@ $<
